// Hands a text made in the page to the reader as a file.
export function download(name, url) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

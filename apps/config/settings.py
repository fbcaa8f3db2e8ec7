"""One settings file, read top to bottom; environments differ in variables, not in code.

docs/configuration.md lists every variable read here.
"""

from pathlib import Path

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from apps.config.env import database_from_url, env_bool, env_float, env_int, env_list, env_str
from apps.config.secrecy import allowed_hosts, secret_key

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = Path(env_str("SPINECUT_VAR_DIR", str(BASE_DIR / "var")))  # everything the program itself writes

PRODUCTION = env_bool("SPINECUT_PRODUCTION", False)
DEBUG = env_bool("DEBUG", False)


SECRET_KEY = secret_key(VAR_DIR, production=PRODUCTION)
ALLOWED_HOSTS = allowed_hosts(production=PRODUCTION)
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("DEBUG is True; production mode does not show its insides to visitors.")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
TLS = env_bool("SPINECUT_TLS", PRODUCTION)

INSTALLED_APPS = [
    "apps.config.admin_site.SpinecutAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "apps.accounts",
    "apps.catalogue",
    "apps.assumptions",
    "apps.vendors",
    "apps.racks",
    "apps.assessments",
    "apps.workloads",
    "apps.intake",
    "apps.analyses",
    "apps.api",
    "apps.web",
]

MIDDLEWARE = [
    "apps.web.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "apps.config.middleware.LogContextMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "apps.accounts.middleware.SessionLimitsMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.accounts.middleware.OneTimeCodesMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.web.middleware.PrivateResponsesMiddleware",
]

ROOT_URLCONF = "apps.config.urls"
WSGI_APPLICATION = "apps.config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.web.context_processors.navigation",
            ],
        },
    },
]

# Databases ----------------------------------------------------------------------------------------------------------
DATABASE_URL = env_str("DATABASE_URL", f"sqlite:///{VAR_DIR / 'spinecut.sqlite3'}")
DATABASES = {"default": database_from_url(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Queue: the run row is the truth, a message only wakes a worker -----------------------------------------------------
REDIS_URL = env_str("REDIS_URL")  # empty: embedded, messages are files below VAR_DIR
QUEUE_DIR = VAR_DIR / "queue"
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "socket_timeout": 3,
        "socket_connect_timeout": 3,
        "retry_on_timeout": False,
        "visibility_timeout": 900,
    }
    if REDIS_URL
    else {
        "data_folder_in": str(QUEUE_DIR / "messages"),
        "data_folder_out": str(QUEUE_DIR / "messages"),
        "control_folder": str(QUEUE_DIR / "control"),
        "store_processed": False,
        "polling_interval": 0.1,
    }
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_DISABLE_PREFETCH = bool(REDIS_URL)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_TASK_SOFT_TIME_LIMIT = env_int("RUN_SOFT_TIME_LIMIT_S", 600)
CELERY_TASK_TIME_LIMIT = env_int("RUN_HARD_TIME_LIMIT_S", 720)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 25
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_MAX_MEMORY_PER_CHILD = env_int("RUN_CHILD_MEMORY_MB", 512) * 1024  # KB; a grown child is replaced
# The scheduler process sweeps by itself: neither long runs nor a broker that is away may keep the sweep waiting.
CELERY_BEAT_SCHEDULER = "apps.analyses.sweeper:SweepScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = env_float("RUN_SWEEP_S", 5)
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "apps.analyses.tasks.sweep", "schedule": env_float("RUN_SWEEP_S", 5)}}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
RUN_LEASE_S = env_float("RUN_LEASE_S", 30)
RUN_HEARTBEAT_S = env_float("RUN_HEARTBEAT_S", 5)
RUN_SWEEP_S = env_float("RUN_SWEEP_S", 5)
RUN_RESEND_AFTER_S = env_float("RUN_RESEND_AFTER_S", 10)
RUN_MAX_ATTEMPTS = env_int("RUN_MAX_ATTEMPTS", 5)
RUN_CHILD_MEMORY_MB = env_int("RUN_CHILD_MEMORY_MB", 512)
RUNS_RUNNING_PER_CLIENT = env_int("RUNS_RUNNING_PER_CLIENT", 2)
RUNS_QUEUED_PER_CLIENT = env_int("RUNS_QUEUED_PER_CLIENT", 20)
RUN_MAIL_AFTER_S = env_int("RUN_MAIL_AFTER_S", 120)  # a run that took longer is announced by mail
RUN_ENGINES_MODULE = env_str("RUN_ENGINES_MODULE")  # a module with further ENGINES, such as a site's own

CACHE_URL = env_str("CACHE_URL")  # a redis database of its own; empty: the database holds the cache
CACHES = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
        if CACHE_URL
        else {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "django_cache"}
    )
}

# Accounts -----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "apps.accounts.passwords.MaximumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "web:portfolio"
ACCOUNT_ADAPTER = "apps.accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"  # an invitation link is the proof
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
# allauth's own limiter only guards one-time codes a second time; ATTEMPT_LIMITS are exact and rule.
ACCOUNT_RATE_LIMITS = {"login_failed": "5/15m/key", "login": "", "reauthenticate": "10/m/user"}
# name: (tries, seconds). An account counts at one address, so that nobody can lock a person out from elsewhere.
ATTEMPT_LIMITS = {
    "sign_in_account": (env_int("SIGN_IN_TRIES_PER_ACCOUNT", 5), 900),
    "sign_in_address": (env_int("SIGN_IN_TRIES_PER_ADDRESS", 50), 3600),
    "one_time_code": (5, 900),
    "link_address": (10, 60),
    "password_reset_account": (5, 3600),
    "password_reset_address": (20, 3600),
}
ALLAUTH_TRUSTED_PROXY_COUNT = env_int("TRUSTED_PROXY_COUNT", 0)  # proxies in front that set X-Forwarded-For
ACCOUNT_SESSION_REMEMBER = True  # the idle limit is the same for everybody
ACCOUNT_FORMS = {"login": "apps.accounts.forms.SignInForm", "reauthenticate": "apps.accounts.forms.PasswordAgainForm"}
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_ADAPTER = "apps.accounts.adapter.MfaAdapter"
MFA_TOTP_ISSUER = "Spinecut"
MFA_FORMS = {
    "authenticate": "apps.accounts.forms.CodeForm",
    "reauthenticate": "apps.accounts.forms.CodeAgainForm",
    "activate_totp": "apps.accounts.forms.ActivateCodesForm",
    "deactivate_totp": "apps.accounts.forms.DeactivateCodesForm",
}
SESSION_COOKIE_AGE = 8 * 3600  # idle
SESSION_ABSOLUTE_S = 7 * 86400  # from the sign-in, however busy
SESSION_SAVE_EVERY_REQUEST = False
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = TLS
CSRF_COOKIE_SECURE = TLS
if TLS:
    SESSION_COOKIE_NAME = "__Host-session"
    CSRF_COOKIE_NAME = "__Host-csrf"
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SECURE_SSL_REDIRECT = env_bool("SPINECUT_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = [r"^health/"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

EMAIL_URL_HOST = env_str("EMAIL_HOST")
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend" if EMAIL_URL_HOST else "django.core.mail.backends.dummy.EmailBackend"
)
EMAIL_HOST = EMAIL_URL_HOST or "localhost"
EMAIL_PORT = env_int("EMAIL_PORT", 587)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env_str("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", True)
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", "spinecut@localhost")

# Pages --------------------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_THOUSAND_SEPARATOR = False
STATIC_URL = "static/"
STATIC_ROOT = env_str("STATIC_ROOT", str(BASE_DIR / "staticfiles") if PRODUCTION else "") or None  # else no copies
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "apps.web.finders.PackagedScriptFinder",
]
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(VAR_DIR / "files")},
    },
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
CSRF_FAILURE_VIEW = "apps.web.views.errors.csrf_failed"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],  # Plotly paints heat maps into data images
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 25 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.api.sessions.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "apps.api.problems.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Spinecut",
    "VERSION": "1",
    "DESCRIPTION": "What the screens show, for scripts. Decimals are text, times are UTC.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "DEFAULT_QUERY_MANAGER": "unscoped",  # of client-owned models; the document is made without looking at any row
    "ENUM_NAME_OVERRIDES": {
        "AssessmentState": "apps.assessments.models.Assessment.State",
        "QuoteState": "apps.vendors.models.QuoteVersion.State",
        "RunState": "apps.analyses.models.AnalysisRun.State",
        "RunKind": "apps.analyses.models.AnalysisRun.Kind",
        "LineKind": "apps.vendors.models.LineKind",
        "EvidenceLevel": "apps.vendors.models.EvidenceLevel",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.api.schema.add_problems",
    ],
}

# Logs: JSON lines with request and run ids ----------------------------------------------------------------------------
LOG_LEVEL = env_str("LOG_LEVEL", "INFO")
LOGGING_CONFIG = "apps.config.logging.configure"
LOGGING = {"level": LOG_LEVEL}

import json
import urllib.error
import urllib.request
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

MAX_ANSWER_BYTES = 64 * 2**20


class CausewayError(Exception):
    """A call that failed. `code` names the error; None: there is no answer of the service, and it may have been done."""

    def __init__(
        self,
        info: str,
        *,
        code: str | None = None,
        status: int | None = None,
        http: int | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
        current_revision: str | None = None,
    ) -> None:
        super().__init__(info)
        self.code = code
        self.status = status
        self.http = http
        self.request_id = request_id
        self.retry_after = retry_after
        self.current_revision = current_revision


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another address."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


class Caller:
    """Sends calls, and opens their answers. Calls are never repeated: some of them add."""

    def __init__(self, base_url: str, access_token: str, *, locale: str | None = None, timeout: float = 30) -> None:
        self._base_url = base_url.rstrip("/")
        self._access_token = access_token
        self._locale = locale
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def call(self, path: str, success: int, fields: dict[str, Any], idempotency_key: str | None = None) -> Any:
        """Returns `data` of the answer, or of an operation that sends all of it. Fields that are None are left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        body = json.dumps({"access_token": self._access_token, **given}).encode()
        headers = {"Content-Type": "application/json; charset=utf-8", "Accept": "application/json"}
        if self._locale is not None:
            headers["Accept-Language"] = self._locale
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        request = urllib.request.Request(self._base_url + path, data=body, headers=headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return self._read(response.status, response.headers, response.read(MAX_ANSWER_BYTES + 1), success)
        except urllib.error.HTTPError as error:
            with error:
                return self._read(error.code, error.headers, error.read(MAX_ANSWER_BYTES + 1), success)
        except OSError as error:
            raise CausewayError(f"the service cannot be reached: {error}") from error

    def _read(self, http: int, headers: Any, body: bytes, success: int) -> Any:
        request_id = headers.get("x-request-id")
        try:
            answer = json.loads(body)
            status = answer["status"] if "status" in answer else answer["code"]
            info = answer["info"] if "info" in answer else answer["msg"]
        except (ValueError, KeyError, TypeError) as error:
            raise CausewayError(f"HTTP {http}, which is no answer of this service", http=http) from error
        if status != success:
            retry_after = headers.get("retry-after")
            raise CausewayError(
                info,
                code=headers.get("x-error-code"),
                status=status,
                http=http,
                request_id=request_id,
                retry_after=int(retry_after) if retry_after and retry_after.isdigit() else None,
                current_revision=headers.get("x-current-revision"),
            )
        return answer.get("data", answer)

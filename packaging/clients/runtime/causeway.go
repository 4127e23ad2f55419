package causeway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxAnswerBytes = 64 << 20
	defaultTimeout = 30 * time.Second
)

// Client calls the service. Calls are never repeated: some of them add.
type Client struct {
	// BaseURL is the address of the service, such as https://api.example.com.
	BaseURL     string
	AccessToken string
	// Locale is the language of texts; empty: the service's default.
	Locale string
	// HTTPClient may be nil.
	HTTPClient *http.Client
}

// Error is a call that failed. Without a Code there is no answer of the service, and it may have been done.
type Error struct {
	Info       string
	Code       string
	Status     int
	HTTP       int
	RequestID  string
	RetryAfter time.Duration
	// CurrentRevision is that of the settings, where IfRevision was another one.
	CurrentRevision string
	Err             error
}

func (e *Error) Error() string { return e.Info }
func (e *Error) Unwrap() error { return e.Err }

type keyOfContext struct{}

// WithIdempotencyKey returns a context for one call that adds something: within a day a repetition with the same key
// gets the first answer, and nothing is added again.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, key)
}

// Ptr returns a pointer to value, for fields that may be left out.
func Ptr[T any](value T) *T { return &value }

type envelope struct {
	Status *int            `json:"status"`
	Code   *int            `json:"code"`
	Info   string          `json:"info"`
	Msg    string          `json:"msg"`
	Data   json.RawMessage `json:"data"`
}

// call sends request and decodes data of the answer, or all of it where it has no data, into result.
func (c *Client) call(ctx context.Context, path string, success int, request, result any) error {
	body, err := c.body(request)
	if err != nil {
		return &Error{Info: "the request cannot be encoded: " + err.Error(), Err: err}
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.BaseURL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return &Error{Info: err.Error(), Err: err}
	}
	post.Header.Set("Content-Type", "application/json; charset=utf-8")
	post.Header.Set("Accept", "application/json")
	if c.Locale != "" {
		post.Header.Set("Accept-Language", c.Locale)
	}
	if key, ok := ctx.Value(keyOfContext{}).(string); ok {
		post.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http().Do(post)
	if err != nil {
		return &Error{Info: "the service cannot be reached: " + err.Error(), Err: err}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return &Error{Info: "the answer is cut short: " + err.Error(), HTTP: response.StatusCode, Err: err}
	}
	return read(response, answer, success, result)
}

// body puts the token before the fields of the request.
func (c *Client) body(request any) ([]byte, error) {
	fields, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	token, err := json.Marshal(c.AccessToken)
	if err != nil {
		return nil, err
	}
	body := append([]byte(`{"access_token":`), token...)
	if len(fields) > len("{}") {
		body = append(body, ',')
	}
	return append(body, fields[1:]...), nil
}

// http does not follow redirects, which would carry the token to another address.
func (c *Client) http() *http.Client {
	client := http.Client{Timeout: defaultTimeout}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func read(response *http.Response, answer []byte, success int, result any) error {
	var opened envelope
	err := json.Unmarshal(answer, &opened)
	status, info := opened.Status, opened.Info
	if status == nil {
		status, info = opened.Code, opened.Msg
	}
	if err != nil || status == nil {
		return &Error{Info: fmt.Sprintf("HTTP %d, which is no answer of this service", response.StatusCode), HTTP: response.StatusCode, Err: err}
	}
	if *status != success {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &Error{
			Info:            info,
			Code:            response.Header.Get("X-Error-Code"),
			Status:          *status,
			HTTP:            response.StatusCode,
			RequestID:       response.Header.Get("X-Request-Id"),
			RetryAfter:      time.Duration(seconds) * time.Second,
			CurrentRevision: response.Header.Get("X-Current-Revision"),
		}
	}
	data := opened.Data
	if data == nil {
		data = answer
	}
	if err := json.Unmarshal(data, result); err != nil {
		return &Error{Info: "the answer is not as documented: " + err.Error(), HTTP: response.StatusCode, Err: err}
	}
	return nil
}

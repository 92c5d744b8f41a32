// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// plainClient sends requests to programs on loopback, without a proxy and without keep-alive connections.
var plainClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// exchange sends a request, with a JSON body unless it is empty, and returns the body of a successful response. It returns an error that
// quotes any other response.
func exchange(ctx context.Context, client *http.Client, method, url, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", url, err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", url, err)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %s", url, response.Status, answer)
	}
	return answer, nil
}

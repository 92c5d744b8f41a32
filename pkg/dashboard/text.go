// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"io"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// readText reads a body, which is bounded.
func readText(from io.Reader) (string, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return "", fmt.Errorf("reading the body: %w", err)
	}
	return string(text), nil
}

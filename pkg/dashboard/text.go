// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
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

// specOf returns the spec of an object as plain data; nil if it has none.
func specOf(object runtime.Object) any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil { // Every API object converts.
		return nil
	}
	return fields["spec"]
}

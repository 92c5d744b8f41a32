// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// tailBytes bounds the bytes that Tail reads: log lines of a control plane can be long.
const tailBytes = 16 << 10

// Tail returns the last lines of a file, indented for quotation in a message.
func Tail(path string, lines int) (text string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	offset := max(info.Size()-tailBytes, 0)
	content, err := io.ReadAll(io.NewSectionReader(file, offset, tailBytes))
	if err != nil {
		return "", fmt.Errorf("reading the end of %s: %w", path, err)
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	if offset > 0 && len(all) > 1 {
		all = all[1:] // cut in the middle
	}
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return "    " + strings.Join(all, "\n    "), nil
}

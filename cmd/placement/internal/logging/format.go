// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// The values of a Format.
const (
	Text = "text"
	JSON = "json"
)

// Format is a pflag.Value that sets the format of klog.
type Format struct {
	out   io.Writer
	value string
}

// NewFormat returns the format text, which is that of klog. JSON is written to out.
func NewFormat(out io.Writer) *Format { return &Format{out: out, value: Text} }

// String returns the value.
func (f *Format) String() string { return f.value }

// Type returns the type of the value for --help.
func (f *Format) Type() string { return "format" }

// Set sets the format of klog. The flags of klog choose what is logged in either format.
func (f *Format) Set(value string) error {
	switch value {
	case Text:
		klog.ClearLogger()
	case JSON:
		// klog has applied its verbosity before it calls the handler.
		klog.SetLogger(logr.FromSlogHandler(slog.NewJSONHandler(f.out, &slog.HandlerOptions{AddSource: true, Level: slog.Level(-100)})))
	default:
		return fmt.Errorf("unknown format %q; use %s or %s", value, Text, JSON)
	}
	f.value = value
	return nil
}

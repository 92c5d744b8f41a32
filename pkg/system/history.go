// SPDX-License-Identifier: Apache-2.0

package system

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
)

// The flags of the history of decisions.
const (
	HistoryFlag      = "history"
	HistoryBytesFlag = "history-bytes"
)

// The places in which the history of decisions is kept.
const (
	HistoryMemory     = "memory"
	HistoryConfigMaps = "configmaps"
	HistoryOff        = "off"
)

const (
	// DefaultHistoryBytes is how much memory the history takes at most unless Options set another number.
	DefaultHistoryBytes = 32 << 20
	// leastHistoryBytes has room for some rows of some namespaces.
	leastHistoryBytes = 256 << 10
	mostHistoryBytes  = 4 << 30
)

// HistoryOptions say how the history of decisions is kept.
type HistoryOptions struct {
	// Mode is HistoryMemory, HistoryConfigMaps or HistoryOff; empty is off.
	Mode string
	// Bytes bounds the memory; 0 is off.
	Bytes int64
}

// StartHistory makes the Recorder. It is called once, before CacheOptions and Setup.
func (o *Options) StartHistory() {
	switch o.History.Mode {
	case HistoryMemory:
		o.Recorder = recorder.New(int(o.History.Bytes), "")
	case HistoryConfigMaps:
		o.Recorder = recorder.New(int(o.History.Bytes), cmp.Or(o.Namespace, defaultNamespace))
	}
}

// keepsHistory reports whether a hub with these controllers keeps the history in ConfigMaps.
func (o *Options) keepsHistory(enabled []string) bool {
	return o.History.Mode == HistoryConfigMaps && o.History.Bytes > 0 && (slices.Contains(enabled, controller.Name) ||
		slices.Contains(enabled, controller.V1alpha1Name))
}

// bytesValue is a flag with a number of bytes, as Kubernetes writes quantities.
type bytesValue struct{ bytes *int64 }

var _ pflag.Value = bytesValue{}

// String implements pflag.Value.
func (b bytesValue) String() string {
	if b.bytes == nil {
		return ""
	}
	return resource.NewQuantity(*b.bytes, resource.BinarySI).String()
}

// Set implements pflag.Value.
func (b bytesValue) Set(text string) error {
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("%q is no number of bytes such as 32Mi or 1Gi", text)
	}
	*b.bytes = quantity.Value()
	return nil
}

// Type implements pflag.Value.
func (bytesValue) Type() string { return "quantity" }

// addHistoryFlags adds the flags of the history.
func (o *Options) addHistoryFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.History.Mode, HistoryFlag, o.History.Mode,
		"Where the hub keeps what happened to decisions, for 'placement history': "+HistoryMemory+", which ends with the process, "+HistoryConfigMaps+
			" in --namespace, which survive it, or "+HistoryOff+".")
	fs.Var(bytesValue{&o.History.Bytes}, HistoryBytesFlag,
		"Memory for what happened to decisions, such as 32Mi, with a fair share for each namespace; 0 is off.")
}

// validateHistory returns what is wrong with the settings of the history.
func (o *Options) validateHistory() error {
	switch {
	case !slices.Contains([]string{HistoryMemory, HistoryConfigMaps, HistoryOff, ""}, o.History.Mode):
		return fmt.Errorf("--%s: unknown place %q; use %s, %s or %s", HistoryFlag, o.History.Mode, HistoryMemory, HistoryConfigMaps, HistoryOff)
	case o.History.Bytes != 0 && (o.History.Bytes < leastHistoryBytes || o.History.Bytes > mostHistoryBytes):
		return fmt.Errorf("--%s: %s is out of range; use 0 for no history, or from %s to %s", HistoryBytesFlag, bytesValue{&o.History.Bytes},
			resource.NewQuantity(leastHistoryBytes, resource.BinarySI), resource.NewQuantity(mostHistoryBytes, resource.BinarySI))
	default:
		return nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package system

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// docs/spec/history.md HI2: the flags of the history, and what is wrong with them.
func TestHI2FlagsOfTheHistory(t *testing.T) {
	for _, tc := range []struct {
		args, refused string
		bytes         int64
		recorded      bool
	}{
		{bytes: 32 << 20, recorded: true},
		{args: "--history-bytes=64Mi", bytes: 64 << 20, recorded: true},
		{args: "--history-bytes=1000000", bytes: 1000000, recorded: true},
		{args: "--history-bytes=0"},
		{args: "--history=off", bytes: 32 << 20},
		{args: "--history=configmaps", bytes: 32 << 20, recorded: true},
		{args: "--history=disk", refused: `--history: unknown place "disk"; use memory, configmaps or off`},
		{args: "--history-bytes=1Ki", refused: "--history-bytes: 1Ki is out of range; use 0 for no history, or from 256Ki to 4Gi"},
		{args: "--history-bytes=-1", refused: "--history-bytes: -1 is out of range"},
		{args: "--history-bytes=8Gi", refused: "--history-bytes: 8Gi is out of range"},
		{args: "--history-bytes=much", refused: `"much" is no number of bytes such as 32Mi or 1Gi`},
	} {
		o := DefaultOptions()
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		o.AddFlags(flags)
		err := flags.Parse(strings.Fields(tc.args))
		if err == nil {
			err = o.Validate()
		}
		if tc.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("%s: error %v, want %q", tc.args, err, tc.refused)
			}
			continue
		}
		o.StartHistory()
		if err != nil || o.History.Bytes != tc.bytes || (o.Recorder != nil) != tc.recorded {
			t.Errorf("%s: %d bytes, recorder %v, %v", tc.args, o.History.Bytes, o.Recorder != nil, err)
		}
	}
	if o := (Options{}); o.Recorder != nil || o.validateHistory() != nil {
		t.Error("zero options have a history, or are invalid")
	}
}

// SPDX-License-Identifier: Apache-2.0

package logging

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	format := NewFormat(&out)
	if err := format.Set(JSON); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(klog.ClearLogger)
	klog.Background().WithName("election").WithValues("lease", klog.KRef("hub", "lock")).Info("Led", "replicas", 2)
	klog.Background().V(4).Info("Detail")
	klog.Background().Error(errors.New("disk full"), "Cannot write")
	klog.Infof("plain %d", 1)

	type line struct {
		Level, Msg, Logger, Err string
		Lease                   *struct{ Namespace, Name string }
		Replicas                int
		Source                  *struct{ File string }
	}
	var got []line

	for decoder := json.NewDecoder(&out); decoder.More(); {
		var one line
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(err)
		}
		if one.Source == nil || one.Source.File == "" {
			t.Errorf("%q has no source", one.Msg)
		}
		one.Source = nil
		got = append(got, one)
	}

	if diff := cmp.Diff([]line{
		{Level: "INFO", Msg: "Led", Logger: "election", Lease: &struct{ Namespace, Name string }{"hub", "lock"}, Replicas: 2},
		{Level: "ERROR", Msg: "Cannot write", Err: "disk full"},
		{Level: "INFO", Msg: "plain 1"},
	}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestFormats(t *testing.T) {
	format := NewFormat(&bytes.Buffer{})
	if err := format.Set("yaml"); err == nil || format.String() != Text {
		t.Errorf("the format is %q, and the error %v", format, err)
	}
}

// Information of controller-runtime is at verbosity 2, and what others log is as before.
func TestQuiet(t *testing.T) {
	for verbosity, want := range map[int][]string{
		0: {`"level"=0 "msg"="ours"`},
		2: {`"level"=0 "msg"="ours"`, `"level"=2 "msg"="starting server" "name"="test" "addr"="256.0.0.1:0"`},
	} {
		var got []string
		log := Quiet(funcr.New(func(_, line string) { got = append(got, line) }, funcr.Options{Verbosity: verbosity}))
		log.Info("ours")
		startServer(t, log)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines at verbosity %d (-want +got):\n%s", verbosity, diff)
		}
	}
}

// startServer has a server of controller-runtime log that it starts. It cannot listen, so it ends at once.
func startServer(t *testing.T, log logr.Logger) {
	t.Helper()
	server := &manager.Server{Name: "test", Server: &http.Server{Addr: "256.0.0.1:0"}}
	if err := server.Start(ctrllog.IntoContext(context.WithoutCancel(t.Context()), log)); err == nil {
		t.Fatal("a server listens on an address that is none")
	}
}

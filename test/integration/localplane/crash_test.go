// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func TestRecoverFromACrash(t *testing.T) {
	e := startControlPlane(t, localplane.Options{})
	created := createConfigMap(t, e.AdminConfig(), "kept")
	config := e.AdminConfig()
	for _, tc := range []struct {
		reason   string
		programs []string
	}{
		{"the API server alone", []string{binaries.APIServer}},
		{"the API server finds etcd again", []string{binaries.Etcd}},
		{"both, in any order", []string{binaries.Etcd, binaries.APIServer}},
	} {
		if err := e.Crash(tc.programs...); err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := getConfigMap(ctx, t, config, "kept"); err == nil {
			t.Errorf("%s: the API server still answers", tc.reason)
		}
		cancel()
		if err := e.Recover(t.Context()); err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		eventually(t, tc.reason, func() error { return getConfigMap(t.Context(), t, config, "kept") })
		kept, err := client(t, config).ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil || kept.UID != created.UID {
			t.Errorf("%s: UID %q (%v), want %s", tc.reason, kept.UID, err, created.UID)
		}
	}
}

func TestOnlyOwnProgramsCrash(t *testing.T) {
	tenant, err := sharedControlPlane(t).AnotherAPIServer(t.Context(), "/crash", localplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tenant.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, binary := range []string{binaries.Etcd, binaries.ControllerManager} {
		if err := tenant.Crash(binary); err == nil {
			t.Errorf("%s is not the tenant's", binary)
		}
	}
}

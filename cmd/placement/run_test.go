// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/localhub"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestRunOptions(t *testing.T) {
	for _, tc := range []struct {
		reason string
		args   []string
		want   []string // parts of the error; nil: there is none
	}{
		{reason: "nothing is needed"},
		{reason: "all about a started control plane", args: []string{"--data-dir=d", "--write-kubeconfig=k", "--samples=false"}},
		{reason: "all about an existing cluster", args: []string{"--kubeconfig=k", "--no-install", "--samples", "--once", "--timeout=1s"}},
		{
			reason: "a cluster has its own data and kubeconfig", args: []string{"--kubeconfig=k", "--data-dir=d", "--write-kubeconfig=w"},
			want: []string{"--data-dir has no effect with --kubeconfig", "--write-kubeconfig has no effect", "leave one"},
		},
		{reason: "there is nothing in a new control plane", args: []string{"--no-install"}, want: []string{"--no-install needs --kubeconfig"}},
		{reason: "once leaves no time to use a kubeconfig", args: []string{"--once", "--write-kubeconfig=w"}, want: []string{"with --once"}},
		{reason: "only once has a timeout", args: []string{"--timeout=1s"}, want: []string{"--timeout needs --once"}},
		{reason: "no time at all", args: []string{"--once", "--timeout=0s"}, want: []string{"--timeout: 0s must be above 0"}},
		{
			reason: "the sample of Pods has a control plane of its own, and no placements",
			args:   []string{"--sample=pods", "--kubeconfig=k", "--sig-placement-decisions"},
			want:   []string{"--kubeconfig has no effect with --sample=pods", "--sig-placement-decisions has no effect with --sample=pods"},
		},
		{
			reason: "the sample of federated objects has members of its own", args: []string{"--sample=federation", "--kubeconfig=k"},
			want: []string{"--kubeconfig has no effect with --sample=federation"},
		},
		{
			reason: "the sample of ClusterRequests has providers on this machine", args: []string{"--sample=clusters", "--kubeconfig=k"},
			want: []string{"--kubeconfig has no effect with --sample=clusters"},
		},
		{
			reason: "a sample of another name", args: []string{"--sample=zoo"},
			want: []string{`--sample: "zoo" is unknown; use one of [fleet pods federation clusters]`},
		},
		{
			reason: "a variable that is not set must not start another hub than meant", args: []string{"--kubeconfig="},
			want: []string{"--kubeconfig is empty"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := parseRunOptions(t, tc.args...)
			expect.Error(t, err, tc.want)
		})
	}
}

func TestKubeconfigPathFollowsTheData(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	for _, tc := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"in the working directory", nil, filepath.Join(directory, ".placement", "kubeconfig")},
		{"with the data", []string{"--data-dir=data"}, filepath.Join(directory, "data", "kubeconfig")},
		{"as asked", []string{"--data-dir=data", "--write-kubeconfig=mine"}, filepath.Join(directory, "mine")},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o, err := parseRunOptions(t, tc.args...)
			expect.NoError(t, err)
			if o.KubeconfigFile != tc.want {
				t.Errorf("the kubeconfig goes to %s, want %s", o.KubeconfigFile, tc.want)
			}
		})
	}
}

func parseRunOptions(t *testing.T, args ...string) (*localhub.Options, error) {
	t.Helper()
	o := localhub.NewRunOptions()
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	o.AddFlags(fs)
	expect.NoError(t, fs.Parse(args))
	err := o.Complete(fs.Changed)
	return o, err
}

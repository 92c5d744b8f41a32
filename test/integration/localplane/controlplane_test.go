// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/filelock"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

func client(t *testing.T, config *rest.Config) *corev1client.CoreV1Client {
	t.Helper()
	c, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return c
}

func createConfigMap(t *testing.T, config *rest.Config, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
	created, err := client(t, config).ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating config map %s: %v", name, err)
	}
	return created
}

func getConfigMap(ctx context.Context, t *testing.T, config *rest.Config, name string) error {
	t.Helper()
	_, err := client(t, config).ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
	return err
}

// assertGone fails for every process that still runs, and for a directory that still exists.
func assertGone(t *testing.T, directory string, children []child) {
	t.Helper()
	for _, c := range children {
		if process.Running(t.Context(), c.PID, c.Name, directory) {
			t.Errorf("%s (process %d) still runs", c.Name, c.PID)
		}
	}
	if _, err := os.Stat(directory); !os.IsNotExist(err) {
		t.Errorf("directory %s is still there (%v)", directory, err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	e := startControlPlane(t, localplane.Options{})
	directory := e.DataDir()
	children, err := childrenOf(directory)
	if err != nil || len(children) != 2 {
		t.Fatalf("recorded %v (%v), want etcd and kube-apiserver", children, err)
	}
	waited := make(chan error, 1)
	go func() { waited <- e.Wait(t.Context()) }()
	if err := e.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if err := e.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
	assertGone(t, directory, children)
	if err := <-waited; err != nil {
		t.Errorf("Wait over a Stop: %v, want nil", err)
	}
}

func TestDataSurvivesARestart(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "data")
	first := startControlPlane(t, localplane.Options{DataDir: directory})
	created := createConfigMap(t, first.AdminConfig(), "kept")
	user, err := first.UserConfig("olga", "system:masters")
	if err != nil {
		t.Fatal(err)
	}

	_, err = localplane.Start(t.Context(), localplane.Options{DataDir: directory})
	if !errors.Is(err, filelock.ErrLocked) || !strings.Contains(err.Error(), directory) {
		t.Errorf("starting in a directory that is in use: %v, want a refusal that names it", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}

	second := startControlPlane(t, localplane.Options{DataDir: directory})
	kept, err := client(t, second.AdminConfig()).ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the object of the first run: %v", err)
	}
	if kept.UID != created.UID {
		t.Errorf("UID %s, want %s: the object was made anew", kept.UID, created.UID)
	}
	user.Host = second.AdminConfig().Host // the port can have been taken in between
	if err := getConfigMap(t.Context(), t, user, "kept"); err != nil {
		t.Errorf("a certificate of the first run must be valid in the second: %v", err)
	}
}

func TestAnotherAPIServerIsIsolated(t *testing.T) {
	first := sharedControlPlane(t)
	second, err := first.AnotherAPIServer(t.Context(), "/second", localplane.Options{})
	if err != nil {
		t.Fatalf("starting another API server: %v", err)
	}
	t.Cleanup(func() {
		if err := second.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	createConfigMap(t, first.AdminConfig(), "of-the-first")
	if err := getConfigMap(t.Context(), t, second.AdminConfig(), "of-the-first"); !apierrors.IsNotFound(err) {
		t.Errorf("the second API server shows an object of the first: %v", err)
	}
	createConfigMap(t, second.AdminConfig(), "of-the-second")
	if err := getConfigMap(t.Context(), t, first.AdminConfig(), "of-the-second"); !apierrors.IsNotFound(err) {
		t.Errorf("the first API server shows an object of the second: %v", err)
	}
	foreign := first.AdminConfig()
	foreign.Host, foreign.TLSClientConfig.CAData = second.AdminConfig().Host, second.AdminConfig().CAData
	if err := getConfigMap(t.Context(), t, foreign, "of-the-second"); !apierrors.IsUnauthorized(err) {
		t.Errorf("the administrator of the first API server at the second: %v, want Unauthorized", err)
	}

	for prefix, want := range map[string]string{"/second": "in use", "registry": "in use", "/a/b": "single path element", "": "single path element"} {
		if _, err := first.AnotherAPIServer(t.Context(), prefix, localplane.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("prefix %q: %v, want an error with %q", prefix, err, want)
		}
	}
	if err := second.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if err := getConfigMap(t.Context(), t, first.AdminConfig(), "of-the-first"); err != nil {
		t.Errorf("the first API server after the second stopped: %v", err)
	}
}

func TestKilledParentLeavesNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // open for as long as the child is to live
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var report childReport
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &report)
	}
	if err != nil {
		t.Fatalf("reading the report of the child: %v", errors.Join(err, cmd.Wait()))
	}
	for _, c := range report.Children {
		if !process.Running(t.Context(), c.PID, c.Name, report.Directory) {
			t.Errorf("%s (process %d) does not run before the kill", c.Name, c.PID)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended well in spite of the kill")
	}
	if runtime.GOOS == "linux" {
		eventually(t, "waiting for the children of a killed process to end", func() error {
			for _, c := range report.Children {
				if process.Running(t.Context(), c.PID, c.Name, report.Directory) {
					return errors.New(c.Name + " still runs")
				}
			}
			return nil
		})
	}
	startControlPlane(t, localplane.Options{}) // removes what others have abandoned
	assertGone(t, report.Directory, report.Children)
}

func TestWaitReportsADeadProgram(t *testing.T) {
	e := startControlPlane(t, localplane.Options{})
	if err := e.Crash(binaries.APIServer); err != nil {
		t.Fatal(err)
	}
	err := e.Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver exited: signal: killed") {
		t.Errorf("got %v, want the end of kube-apiserver", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"

	"github.com/placement-hub/placement-hub/test/benchmark/admission"
)

const (
	loopback      = "127.0.0.1"
	headerTimeout = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := serve(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "allow:", err)
		os.Exit(1)
	}
}

// serve answers until ctx ends.
func serve(ctx context.Context, out io.Writer) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("loading the certificate: %w", err)
	}
	listener, err := tls.Listen("tcp", loopback+":0", &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	})
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	address := admission.Address{URL: "https://" + listener.Addr().String(), CABundle: certificate}
	if err := json.NewEncoder(out).Encode(address); err != nil {
		return fmt.Errorf("printing the address: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(allow), ReadHeaderTimeout: headerTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve returns then.
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// allow answers a review. It decodes only the UID, which the answer must have.
func allow(w http.ResponseWriter, r *http.Request) {
	var review struct {
		metav1.TypeMeta `json:",inline"`

		Request struct {
			UID types.UID `json:"uid"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := admissionv1.AdmissionReview{
		TypeMeta: review.TypeMeta, Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true},
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		fmt.Fprintln(os.Stderr, "allow: answering:", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/placement-hub/placement-hub/test/benchmark/admission"
)

func TestEverythingIsAllowed(t *testing.T) {
	reader, writer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, writer) }()
	line, err := bufio.NewReader(reader).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var address admission.Address
	if err := json.Unmarshal(line, &address); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(address.CABundle) {
		t.Fatal("there is no certificate authority")
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	for body, want := range map[string]*admissionv1.AdmissionResponse{
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u1","object":{"spec":3}}}`: {UID: "u1", Allowed: true},
		`no review`: nil,
	} {
		response, err := client.Post(address.URL, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var review admissionv1.AdmissionReview
		if want != nil {
			err = json.NewDecoder(response.Body).Decode(&review)
		}
		if closing := response.Body.Close(); err != nil || closing != nil {
			t.Fatal(err, closing)
		}
		if diff := cmp.Diff(want, review.Response); diff != "" || (response.StatusCode == http.StatusOK) != (want != nil) {
			t.Errorf("%s: status %d (-want +got):\n%s", body, response.StatusCode, diff)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
)

// largeHub has a page of clusters c0000 and so on, and then team-a, team-b and zoo, on pages of their own.
type largeHub struct {
	client.Reader

	asked, fails int
}

func (h *largeHub) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	h.asked++
	if h.asked == h.fails {
		return errors.New("too late")
	}
	page, is := list.(*metav1.PartialObjectMetadataList)
	if !is {
		return fmt.Errorf("%T is listed", list)
	}
	var names []string
	number := 0
	if asked.Continue != "" {
		number, _ = strconv.Atoi(asked.Continue)
	}
	if number == 0 {
		for i := range hubflags.CompletionPage {
			names = append(names, fmt.Sprintf("c%04d", i))
		}
	} else {
		names = []string{[]string{"team-a", "team-b", "zoo"}[number-1]}
	}
	if number < 3 {
		page.Continue = strconv.Itoa(number + 1)
	}
	for _, name := range names {
		page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return nil
}

// Names behind the first page are completed too, no more is asked for than is needed, and what was found in time is offered.
func TestCompletionFindsNamesInALargeHub(t *testing.T) {
	for _, tc := range []struct {
		begun            string
		fails            int
		want             string
		offered, lookups int
	}{
		{begun: "team", want: "team-a team-b", offered: 2, lookups: 4},
		{begun: "team", fails: 3, want: "team-a", offered: 1, lookups: 3},
		{begun: "c001", want: "c0010", offered: 10, lookups: 1},
		{begun: "", want: "c0000", offered: hubflags.CompletionPage, lookups: 1},
		{begun: "zoo", want: "zoo", offered: 1, lookups: 4},
	} {
		hub := &largeHub{fails: tc.fails}
		names := hubflags.BegunNames(t.Context(), hub, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", tc.begun)
		if len(names) != tc.offered || hub.asked != tc.lookups || !strings.HasPrefix(strings.Join(names, " "), tc.want) {
			t.Errorf("%q: %d names from %q on after %d requests, want %+v", tc.begun, len(names), names[:min(len(names), 2)], hub.asked, tc)
		}
	}
}

// What is no file is not completed by files.
func TestCompletionOfFormats(t *testing.T) {
	for _, command := range []string{"explain", "federated", "simulate", "diff", "sets"} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"__complete", command, "-o", ""}, &stdout, &stderr)
		if code != exit.OK || !strings.HasPrefix(stdout.String(), "table\n") || !strings.HasSuffix(stdout.String(), "\nwide\n:4\n") {
			t.Errorf("%s: exit code %d, stdout %q", command, code, &stdout)
		}
	}
}

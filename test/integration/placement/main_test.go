// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestPlacement(t *testing.T) { suite.Run(t, "the clusters that placements select") }

// inAWhile returns a time in two or three seconds, in whole seconds as the API keeps it.
func inAWhile() metav1.Time {
	return metav1.NewTime(time.Now().Add(3 * time.Second).Truncate(time.Second))
}

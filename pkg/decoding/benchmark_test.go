// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// BenchmarkHeartbeat decodes the event of a cluster: with client-go, with this package, and with this package and an undecodable field.
func BenchmarkHeartbeat(b *testing.B) {
	scheme := runtime.NewScheme()
	if err := clusterv1.Install(scheme); err != nil {
		b.Fatal(err)
	}
	strict, lenient := serializer.NewCodecFactory(scheme).WithoutConversion(), newSerializer(scheme)

	info, found := runtime.SerializerInfoForMediaType(strict.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		b.Fatal("there is no serializer for JSON")
	}
	status := func(cpu string) []byte {
		return fmt.Appendf(nil, clusterForm, "c1", `,"annotations":{"a":"b"}`, `"hubAcceptsClient":true`,
			`"allocatable":{"cpu":"`+cpu+`","memory":"16Gi"},`+
				`"capacity":{"cpu":"8","memory":"32Gi"},"clusterClaims":[{"name":"id","value":"1"},{"name":"zone","value":"a"}],"conditions":[`+
				`{"type":"ManagedClusterConditionAvailable","status":"True","reason":"A","message":"m","lastTransitionTime":"2027-01-01T00:00:00Z"}]`)
	}
	for _, bc := range []struct {
		name    string
		decoder runtime.Decoder
		data    []byte
	}{
		{"strict", strict.DecoderToVersion(info.Serializer, nil), status("4")},
		{"lenient", lenient.DecoderToVersion(info.Serializer, nil), status("4")},
		{"unreadable", lenient.DecoderToVersion(info.Serializer, nil), status("1e1.5")},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := bc.decoder.Decode(bc.data, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

{{- /* The labels that the selectors of Deployment, Services and PodDisruptionBudget have, and the objects of the workload. */ -}}
{{- define "placement-hub.labels" -}}
app.kubernetes.io/name: placement-hub
app.kubernetes.io/component: controller
{{- end -}}

{{- /* Topology spread constraints where the values have none. */ -}}
{{- define "placement-hub.topologySpreadConstraints" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "placement-hub.labels" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{- /* What the Pods of the hub and of `helm test` have in common. */ -}}
{{- define "placement-hub.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "placement-hub.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "placement-hub.image" -}}
{{- with .Values.image -}}
image: {{ ternary (printf "%s@%s" .repository .digest) (printf "%s:%s" .repository .tag) (ne .digest "") | quote }}
imagePullPolicy: {{ .pullPolicy }}
{{- end -}}
{{- end -}}

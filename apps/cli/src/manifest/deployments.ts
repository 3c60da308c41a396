/** Argument of `deploy print` → file in the folder `deploy`. */
export const DEPLOYMENTS: Readonly<Record<string, string>> = {
  caddy: 'Caddyfile',
  'caddy-cluster': 'Caddyfile.cluster',
  nginx: 'nginx.conf',
  systemd: 'perdure.service',
  dockerfile: 'Dockerfile',
  dockerignore: 'dockerignore',
  compose: 'compose.yaml',
  'compose-postgres': 'compose.postgres.yaml',
  kubernetes: 'kubernetes.yaml',
  'kubernetes-postgres': 'kubernetes.postgres.yaml',
  grafana: 'grafana/perdure.json',
  prometheus: 'prometheus/perdure.rules.yml',
}

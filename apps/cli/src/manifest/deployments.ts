/** What can be printed, and the file of the folder `deploy` that it is. */
export const DEPLOYMENTS: Readonly<Record<string, string>> = {
  caddy: 'Caddyfile',
  nginx: 'nginx.conf',
  systemd: 'berth.service',
  dockerfile: 'Dockerfile',
  dockerignore: 'dockerignore',
  compose: 'compose.yaml',
  kubernetes: 'kubernetes.yaml',
  grafana: 'grafana/berth.json',
  prometheus: 'prometheus/berth.rules.yml',
}

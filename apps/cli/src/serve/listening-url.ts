import type { Listening } from './serve.ts'

export const listeningUrl = ({ host, port, basePath }: Listening): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}`

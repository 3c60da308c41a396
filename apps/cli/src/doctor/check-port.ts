import { createServer } from 'node:net'
import type { ServerConfig } from '@perdure/protocol'
import { listeningUrl } from '../serve/listening-url.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const PROBE_MS = 1_000

/** Whether the configured address is free, or held by a Perdure server that answers. */
export async function checkPort({ server }: ServerConfig): Promise<Finding> {
  const { host, port } = server
  if (port === 0) return ok('port', 'server.port is 0: any free port')
  const code = await tryListen(host, port)
  if (code === undefined) return ok('port', `${host}:${port} is free`)
  if (code !== 'EADDRINUSE')
    return fail('port', `${host}:${port} cannot be listened on (${code})`, 'correct server.host or server.port')
  if (await isPerdure(listeningUrl(server))) return warn('port', `a Perdure server already answers on ${host}:${port}`)
  return fail('port', `${host}:${port} is taken by another program`, `perdure server --port ${port + 1}`)
}

function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}

async function isPerdure(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(PROBE_MS) })
    const document = (await response.json()) as { status?: unknown } | null
    return response.headers.has('x-request-id') && typeof document?.status === 'string'
  } catch {
    return false
  }
}

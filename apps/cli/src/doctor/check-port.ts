import { createServer } from 'node:net'
import type { ServerConfig } from '@perdure/protocol'
import { listeningUrl } from '../serve/listening-url.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const PROBE_MS = 1_000

/** Checks that the configured address is free or in use by a Perdure server. */
export async function checkPort({ server }: ServerConfig): Promise<Finding> {
  const { host, port } = server
  if (port === 0) return ok('port', 'server.port is 0: the server picks a free port')
  const code = await tryListen(host, port)
  if (code === undefined) return ok('port', `${host}:${port} is free`)
  if (code !== 'EADDRINUSE')
    return fail('port', `cannot listen on ${host}:${port} (${code})`, 'fix server.host or server.port')
  if (await isPerdure(listeningUrl(server)))
    return warn('port', `a Perdure server is already running on ${host}:${port}`)
  return fail('port', `${host}:${port} is in use by another program`, `perdure server --port ${port + 1}`)
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

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Call, createCall, ledgerOf, type Shown } from './durable-server.ts'
import { createSandbox, createToken, DURABLE_CONFIG, type RunningServer, startServer } from './perdure-process.ts'

/** The shortest lease that the configuration permits. */
export const LEASE_MS = 3_000

/** One server process of a cluster. */
export interface ClusterNode extends Pick<RunningServer, 'kill' | 'stderr' | 'url'> {
  readonly pid: number
  readonly call: Call
  execute(workflowId: string, threadId: string, input?: unknown): Promise<string>
  run(runId: string): Promise<Shown>
}

/** Server processes on one schema. */
export interface ServerCluster {
  readonly nodes: readonly ClusterNode[]
  /** @param env in addition to that of the cluster */
  start(env?: NodeJS.ProcessEnv): Promise<ClusterNode>
  ledger(): readonly string[]
  openGate(gate: string): void
}

export async function startCluster(
  size: number,
  env: NodeJS.ProcessEnv = {},
  config = DURABLE_CONFIG,
): Promise<ServerCluster> {
  const sandbox = createSandbox({ PERDURE_STORAGE_CLUSTER: 'true', PERDURE_STORAGE_LEASE_MS: `${LEASE_MS}`, ...env })
  const token = await createToken(sandbox)

  const start = async (more: NodeJS.ProcessEnv = {}): Promise<ClusterNode> => {
    const own = { ...sandbox, env: { ...sandbox.env, ...more } }
    const server = await startServer(own, ['server', '--config', config])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const call = createCall(() => server.url, token)
    return {
      ...{ kill: server.kill, stderr: server.stderr, url: server.url, pid: server.process.pid ?? 0, call },
      execute: async (workflowId, threadId, input = {}) =>
        (await call('POST', `/workflows/${workflowId}/execute`, { body: { input, threadId } })).body.runId,
      run: async (runId) => (await call('GET', `/runs/${runId}`)).body,
    }
  }

  return {
    nodes: await Promise.all(Array.from({ length: size }, () => start())),
    start,
    ledger: () => ledgerOf(sandbox),
    openGate: (gate) => writeFileSync(join(sandbox.dir, `gate-${gate}`), ''),
  }
}

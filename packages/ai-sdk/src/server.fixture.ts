import type { AgentRegistration } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type Adapters, createServer, type PerdureServer } from '@perdure/server-app'
import { onTestFinished } from 'vitest'

export const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

const running = new Set<PerdureServer>()

/** Stops the servers of a test at once: one whose storage has stopped to answer takes a second. */
async function stopAll(): Promise<void> {
  const servers = [...running]
  running.clear()
  await Promise.all(servers.map((server) => server.stop({ force: true })))
}

/** A server without a listener. */
export async function serverWith(
  agents: readonly AgentRegistration[],
  storage = createInMemoryStorage(),
  adapters: Partial<Adapters> = {},
) {
  const server = await createServer({
    config: { auth: { kind: 'none' } },
    adapters: { storage, logger: QUIET, ...adapters },
    agents,
  })
  await server.start({ listen: false })
  running.add(server)
  onTestFinished(stopAll)

  const request = (path: string, body?: object, more: Readonly<Record<string, string>> = {}) => {
    const init =
      body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...more } }
    return server.fetch(new Request(`http://localhost/v1${path}`, init))
  }
  return {
    stop: () => server.stop({ force: true }),
    server,
    get: async <T>(path: string, body?: object, headers?: Readonly<Record<string, string>>) =>
      (await (await request(path, body, headers)).json()) as T,
    /** Sends a message of a chat, as `useChat` does, and reads the chunks of the answer. */
    async chat(agentId: string, body: object, version: 6 | 7 = 7): Promise<readonly UiChunk[]> {
      const response = await request(`/agents/${agentId}/chat?v=${version}`, { trigger: 'submit-message', ...body })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.split('\n').flatMap((line) => {
        const data = /^data: (\{.*)$/.exec(line)?.[1]
        return data === undefined ? [] : [JSON.parse(data) as UiChunk]
      })
    },
  }
}

export interface UiChunk {
  readonly type: string
  readonly [member: string]: unknown
}

export const userMessage = (id: string, text: string, ...parts: readonly object[]) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }, ...parts],
})

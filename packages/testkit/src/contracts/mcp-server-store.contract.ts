import type { McpServerRecord, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { anMcpServer } from '../builders.ts'
import { commit, refused } from './commits.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { eachAlone, type Optionals } from './optional-fields.ts'

const OPTIONALS: Optionals<McpServerRecord> = { headersRef: 'env:HEADERS' }

const insert = (storage: Storage, ...servers: readonly McpServerRecord[]) =>
  commit(storage, ...servers.map((server) => ({ type: 'mcp-server.insert', server }) as const))

export const mcpServerStoreCases: readonly ContractCase[] = [
  {
    title: 'finds no server for an unknown id',
    async run(storage) {
      await insert(storage, anMcpServer())

      expect(await storage.mcpServers.find('unknown')).toBeUndefined()
    },
  },
  {
    title: 'round-trips a server with all, one and none of the optional fields',
    async run(storage) {
      const servers = [OPTIONALS, ...eachAlone(OPTIONALS), {}].map((fields, index) =>
        anMcpServer({ id: `server-${index}`, ...fields }),
      )
      await insert(storage, ...servers)

      for (const server of servers) expect(await storage.mcpServers.find(server.id)).toEqual(server)
    },
  },
  {
    title: 'lists all servers by id in code-unit order, regardless of the order in which they were added',
    async run(storage) {
      expect(await storage.mcpServers.list()).toEqual([])
      await insert(storage, ...['b', 'a_1', 'B', '9', 'a-1'].map((id) => anMcpServer({ id })))

      expect((await storage.mcpServers.list()).map(({ id }) => id)).toEqual(['9', 'B', 'a-1', 'a_1', 'b'])
    },
  },
  {
    title: 'refuses a server with a taken id and returns the existing server',
    async run(storage) {
      await insert(storage, anMcpServer())

      const server = anMcpServer({ url: 'https://other.example/' })
      const outcome = await refused(storage, { type: 'mcp-server.insert', server })

      expect(outcome.conflict).toEqual({ type: 'mcp-server.insert', current: anMcpServer() })
      expect(await storage.mcpServers.find(server.id)).toEqual(anMcpServer())
    },
  },
  {
    title: 'deletes a server and allows its id to be used again',
    async run(storage) {
      await insert(storage, anMcpServer(), anMcpServer({ id: 'kept' }))
      await commit(storage, { type: 'mcp-server.delete', id: anMcpServer().id })

      expect((await storage.mcpServers.list()).map(({ id }) => id)).toEqual(['kept'])

      await insert(storage, anMcpServer({ createdBy: 'bob' }))
      expect(await storage.mcpServers.find(anMcpServer().id)).toEqual(anMcpServer({ createdBy: 'bob' }))
    },
  },
  {
    title: 'refuses to delete an unknown server',
    async run(storage) {
      expect((await refused(storage, { type: 'mcp-server.delete', id: 'unknown' })).conflict).toEqual({
        type: 'mcp-server.delete',
      })
    },
  },
]

/** Requirements for every `McpServerStore` and its writes. */
export const mcpServerStoreContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'McpServerStore', cases: mcpServerStoreCases }], harness)

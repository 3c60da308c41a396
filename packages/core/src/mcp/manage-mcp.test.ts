import { describe, expect, it } from 'vitest'
import { ALICE, ALLOWED, createMcpWorld, KEY, PAGE, refusal, WEB } from './mcp.fixture.ts'
import { createMcp } from './mcp.ts'

describe('manageMcp', () => {
  it('adds a server once per key and lists it with the configured servers, without connecting', async () => {
    const { manageMcp, storage, log } = createMcpWorld()

    const replies = await Promise.all([1, 2, 3].map(() => manageMcp.bind({ server: WEB, principal: ALICE, key: KEY })))

    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(replies[0]?.location).toBe('/v1/mcp/servers/web')
    expect((await manageMcp.list(PAGE)).items).toEqual([
      { id: 'down', transport: 'stdio', source: 'config', status: 'disconnected' },
      { id: 'files', transport: 'stdio', source: 'config', status: 'connected' },
      { ...WEB, transport: 'http', source: 'api', status: 'disconnected' },
    ])
    expect(await storage.audit.read({ afterSeq: 0, limit: 9 })).toMatchObject([{ action: 'mcp.bind', target: 'web' }])
    expect(log).toEqual([])
  })

  it('rejects the id of a server that was already added or configured', async () => {
    const { manageMcp } = createMcpWorld()
    await manageMcp.bind({ server: WEB, principal: ALICE })

    for (const id of ['web', 'files']) {
      expect(await refusal(manageMcp.bind({ server: { ...WEB, id }, principal: ALICE }))).toBe('mcp-server-exists')
    }
  })

  it.each([
    ['https://mcp.example/mcp', 'done'],
    ['https://MCP.example:443/', 'done'],
    ['http://localhost:3000/mcp', 'done'],
    ['http://localhost/mcp', 'mcp-host-denied'],
    ['http://localhost:3001/mcp', 'mcp-host-denied'],
    ['https://mcp.example:8443/', 'mcp-host-denied'],
    ['https://evil.example/mcp.example', 'mcp-host-denied'],
    ['https://mcp.example.evil.example/', 'mcp-host-denied'],
    ['https://evil-mcp.example/', 'mcp-host-denied'],
    ['http://127.0.0.1:3000/', 'mcp-host-denied'],
    ['http://169.254.169.254/latest', 'mcp-host-denied'],
    ['http://[::1]:3000/', 'mcp-host-denied'],
    ['https://mcp.example@evil.example/', 'validation-failed'],
    ['https://user:secret@mcp.example/', 'validation-failed'],
    ['file:///etc/passwd', 'validation-failed'],
    ['ftp://mcp.example/', 'validation-failed'],
  ])('answers a request to add a server at %s with %s', async (url, outcome) => {
    const { manageMcp } = createMcpWorld()

    expect(await refusal(manageMcp.bind({ server: { ...WEB, url }, principal: ALICE }))).toBe(outcome)
  })

  it('denies calls to an added server whose host is no longer allowed', async () => {
    const { manageMcp, parts, ...world } = createMcpWorld()
    await manageMcp.bind({ server: WEB, principal: ALICE })
    const { useMcp } = createMcp({
      ...{ ...parts, ...world, unitOfWork: world.storage.unitOfWork, allowed: { ...ALLOWED, hosts: [] } },
      ...{ basePath: '/v1', idempotencyTtlMs: 1_000 },
    })

    expect(await refusal(useMcp.tools('web', PAGE))).toBe('mcp-host-denied')
    expect(await refusal(useMcp.call({ serverId: 'web', tool: 'a', arguments: {} }))).toBe('mcp-host-denied')
  })

  it.each([
    ['env:H', 'done'],
    ['file:keys/a', 'done'],
    ['env:PERDURE_PEPPER', 'mcp-headers-denied'],
    ['env:HH', 'mcp-headers-denied'],
    ['env:h', 'mcp-headers-denied'],
    ['file:/etc/passwd', 'mcp-headers-denied'],
    ['file:keys/../keys/a', 'mcp-headers-denied'],
  ])('answers a request to add a server with headersRef %s with %s', async (headersRef, outcome) => {
    const { manageMcp, storage } = createMcpWorld()

    expect(await refusal(manageMcp.bind({ server: { ...WEB, headersRef }, principal: ALICE }))).toBe(outcome)
    expect(await storage.mcpServers.list()).toHaveLength(outcome === 'done' ? 1 : 0)
  })

  it('does not send a secret whose reference is no longer allowed', async () => {
    const { manageMcp, parts, calls, ...world } = createMcpWorld()
    await manageMcp.bind({ server: { ...WEB, headersRef: 'env:H' }, principal: ALICE })
    const { useMcp } = createMcp({
      ...{ ...parts, ...world, unitOfWork: world.storage.unitOfWork, allowed: { ...ALLOWED, headersRefs: [] } },
      ...{ basePath: '/v1', idempotencyTtlMs: 1_000 },
    })

    expect(await refusal(useMcp.tools('web', PAGE))).toBe('mcp-headers-denied')
    expect(await refusal(useMcp.call({ serverId: 'web', tool: 'a', arguments: {} }))).toBe('mcp-headers-denied')
    expect([calls, world.log]).toEqual([[], []])
  })

  it('removes and disconnects an added server, but rejects the removal of a configured server', async () => {
    const { manageMcp, storage, log } = createMcpWorld()
    await manageMcp.bind({ server: { ...WEB, headersRef: 'env:H' }, principal: ALICE })

    expect(await manageMcp.remove({ id: 'web', principal: ALICE })).toEqual({ status: 204 })
    expect(await refusal(manageMcp.remove({ id: 'web', principal: ALICE }))).toBe('mcp-server-not-found')
    expect(await refusal(manageMcp.remove({ id: 'files', principal: ALICE }))).toBe('validation-failed')

    expect(await storage.mcpServers.list()).toEqual([])
    expect(log).toEqual(['disconnect web'])
  })
})

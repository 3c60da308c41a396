import { describe, expect, it } from 'vitest'
import { checkMcpSecrets, type McpServerRegistration, readMcpServers } from './mcp-servers.ts'
import { createRegisteredSkills } from './registered-skills.ts'

describe('readMcpServers', () => {
  it('accepts programs and URLs', () => {
    expect(
      readMcpServers([
        { id: 'files', command: 'npx', args: ['files'], envRefs: { KEY: 'env:KEY' } },
        { id: 'web', url: 'https://a.example/mcp', headersRef: 'env:H', tokenExpiresAt: '2030-01-01T00:00:00Z' },
      ]),
    ).toEqual([
      {
        endpoint: {
          ...{ transport: 'stdio', id: 'files', command: 'npx', args: ['files'], env: {}, envRefs: { KEY: 'env:KEY' } },
        },
      },
      {
        endpoint: { transport: 'http', id: 'web', url: 'https://a.example/mcp', headersRef: 'env:H' },
        tokenExpiresAt: Date.UTC(2030, 0, 1),
      },
    ])
  })

  it.each([
    [{ id: 'a b', command: 'x' }, 'mcpServers.0: id'],
    [{ id: 'a', command: '' }, 'mcpServers.0: command'],
    [{ id: 'a', command: 'x', shell: true }, 'mcpServers.0: shell: unknown member'],
    [{ id: 'a', command: 'x', envRefs: { K: 'naked' } }, 'mcpServers.0: envRefs.K: must be a secret reference'],
    [{ id: 'a', url: 'file:///x' }, 'mcpServers.0: url'],
    [{ id: 'a', url: 'https://a.example', headersRef: 'naked' }, 'mcpServers.0: headersRef'],
    [{ id: 'a', url: 'https://a.example', tokenExpiresAt: 'soon' }, 'mcpServers.0: tokenExpiresAt'],
    [null, 'mcpServers.0'],
  ])('rejects %j and names the field', (registration, message) => {
    expect(() => readMcpServers([registration as McpServerRegistration])).toThrow(message)
    expect(() => readMcpServers([registration as McpServerRegistration])).not.toThrow('naked')
  })

  it('rejects two servers with the same id', () => {
    const server = { id: 'a', command: 'x' }

    expect(() => readMcpServers([server, server])).toThrow('registered twice')
  })
})

describe('checkMcpSecrets', () => {
  it('rejects a secret that does not resolve, and names the server and the field', async () => {
    const deps = {
      secretResolvers: [{ scheme: 'env', resolve: async () => undefined }],
      logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    }
    const servers = [
      { id: 'files', command: 'x', envRefs: { KEY: 'env:NONE' } },
      { id: 'web', url: 'https://a.example', headersRef: 'env:NONE' },
    ]

    for (const [server, member] of [
      [servers[0], 'mcpServers files envRefs.KEY'],
      [servers[1], 'mcpServers web headersRef'],
    ] as const) {
      await expect(checkMcpSecrets(readMcpServers([server as never]), deps)).rejects.toMatchObject({
        kind: 'secret-unresolvable',
        message: expect.stringContaining(member),
      })
    }
  })
})

describe('createRegisteredSkills', () => {
  const skill = { name: 'pdf', description: 'd', instructions: 'i' }

  it.each([
    [{ ...skill, name: '../x' }, 'skills.0: name'],
    [{ ...skill, description: '' }, 'skills.0: description'],
    [{ ...skill, instructions: 1 }, 'skills.0: instructions'],
    [{ ...skill, files: { a: 1 } }, 'skills.0: files'],
    ['pdf', 'skills.0'],
  ])('rejects %j and names the field', (given, message) => {
    expect(() => createRegisteredSkills([given as never])).toThrow(message)
  })

  it('rejects two skills with the same name', () => {
    expect(() => createRegisteredSkills([skill, skill])).toThrow('registered twice')
  })
})

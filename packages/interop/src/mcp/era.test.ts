import { describe, expect, it } from 'vitest'
import { clientOf, MODERN_VERSION } from './era.ts'
import type { RpcRequest } from './json-rpc.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

const headersOf = (headers: Record<string, string>) => (name: string) => headers[name]

const call = (meta: object | undefined, name = 'greeter'): RpcRequest => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name, ...(meta === undefined ? {} : { _meta: meta }) },
})

const modernMeta = (capabilities: object = {}) => ({ [VERSION]: MODERN_VERSION, [CAPABILITIES]: capabilities })
const modernHeaders = { 'mcp-protocol-version': MODERN_VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'greeter' }

describe('clientOf', () => {
  it('takes a client with a handshake at its session id', () => {
    const asked = clientOf(
      call(undefined),
      headersOf({ 'mcp-session-id': 'perdure1-e', 'mcp-protocol-version': '2025-11-25' }),
    )
    const other = clientOf(call(undefined), headersOf({ 'mcp-session-id': 'something-else' }))

    expect(asked).toMatchObject({ era: 'legacy', elicits: true, isPrimed: true })
    expect(other).toMatchObject({ era: 'legacy', elicits: false, isPrimed: false })
  })

  it('refuses another method in the header of a client with a handshake', () => {
    const client = clientOf(call(undefined), headersOf({ 'mcp-method': 'tasks/get' }))
    expect(client).toMatchObject({ code: -32020, status: 400 })
    expect(clientOf(call(undefined), headersOf({ 'mcp-method': 'tools/call' }))).toMatchObject({ era: 'legacy' })
  })

  it('sends an event without data only to clients that accept it', () => {
    const client = clientOf(call(undefined), headersOf({ 'mcp-protocol-version': '2025-06-18' }))
    expect(client).toMatchObject({ era: 'legacy', isPrimed: false })
  })

  it('reads the capabilities of a client without a handshake from each request', () => {
    const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
    expect(clientOf(call(modernMeta()), headersOf(modernHeaders))).toMatchObject({ elicits: false, hasTasks: false })
    expect(clientOf(call(modernMeta(capabilities)), headersOf(modernHeaders))).toMatchObject({
      elicits: true,
      hasTasks: true,
    })
  })

  it.each([
    ['a missing version', { [CAPABILITIES]: {} }, modernHeaders, -32602],
    ['missing capabilities', { [VERSION]: MODERN_VERSION }, modernHeaders, -32602],
    ['another version in the header', modernMeta(), { ...modernHeaders, 'mcp-protocol-version': '2027-01-01' }, -32020],
    ['no version in the header', modernMeta(), {}, -32020],
    ['another method in the header', modernMeta(), { ...modernHeaders, 'mcp-method': 'tools/list' }, -32020],
    ['another name in the header', modernMeta(), { ...modernHeaders, 'mcp-name': 'other' }, -32020],
    ['no name in the header', modernMeta(), { ...modernHeaders, 'mcp-name': '' }, -32020],
    [
      'an unknown version',
      { ...modernMeta(), [VERSION]: '2027-01-01' },
      { ...modernHeaders, 'mcp-protocol-version': '2027-01-01' },
      -32022,
    ],
  ])('refuses %s', (_, meta, headers, code) => {
    expect(clientOf(call(meta), headersOf(headers))).toMatchObject({ code, status: 400 })
  })

  it('names the versions that it supports to a client of an unknown one', () => {
    const headers = { ...modernHeaders, 'mcp-protocol-version': '2027-01-01' }
    const refusal = clientOf(call({ ...modernMeta(), [VERSION]: '2027-01-01' }), headersOf(headers))
    expect(refusal).toMatchObject({ data: { supported: [MODERN_VERSION], requested: '2027-01-01' } })
  })

  it('accepts surrounding spaces in headers, and a name in base64', () => {
    const spaced = { ...modernHeaders, 'mcp-name': '  greeter  ' }
    const encoded = { ...modernHeaders, 'mcp-name': '=?base64?Z3LDvHNzZXI=?=' }
    expect(clientOf(call(modernMeta()), headersOf(spaced))).toMatchObject({ era: 'modern' })
    expect(clientOf(call(modernMeta(), 'grüsser'), headersOf(encoded))).toMatchObject({ era: 'modern' })
    expect(clientOf(call(modernMeta()), headersOf({ ...modernHeaders, 'mcp-name': '=?base64?%?=' }))).toMatchObject({
      code: -32020,
    })
  })
})

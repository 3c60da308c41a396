import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { clientKey } from './client-key.ts'

const deps = {
  keyRequest: async (_: unknown, key: string) => ({ id: key, fingerprint: '' }),
  basePath: '/v1',
  digest: { sha256: (text: string) => `hash of ${text.length}` },
}
const call = { agentId: 'a', principal: { subject: 's', scopes: [] }, visibility: EVERY_ROW, params: {} }

const keyOf = async (chatId: string, ref: string) =>
  (await clientKey(deps, call as never, { route: 'chat', chatId, ref, content: {} })).id

describe('the key of a message', () => {
  it('stays as earlier releases have stored it for plain ids', async () => {
    expect(await keyOf('chat-1', 'm1')).toBe('chat-1%20m1')
    expect(await keyOf('c', 'a'.repeat(300))).toBe('hash of 304')
  })

  it('is different for different ids', async () => {
    const ids = [
      'a',
      'b',
      ' ',
      '%',
      '%20',
      '%u0020',
      'a b',
      'a%20b',
      '\u0100',
      '\u00100',
      '20',
      '\u2020',
      '20b\u20ac',
      '',
    ]
    const keys = await Promise.all(ids.flatMap((chatId) => ids.map((ref) => keyOf(chatId, ref))))

    expect(new Set(keys).size).toBe(ids.length ** 2)
    expect(keys.filter((key) => !/^[\x21-\x7e]+$/.test(key))).toEqual([])
  })
})

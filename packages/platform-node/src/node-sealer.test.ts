import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNodeSealer } from './node-sealer.ts'

const OLD = Buffer.alloc(32, 'o')
const NEW = Buffer.alloc(32, 'n')

describe('createNodeSealer', () => {
  it('opens a sealed text only in the same context', () => {
    const sealer = createNodeSealer([NEW])

    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (text, context, other) => {
        fc.pre(context !== other && text.isWellFormed())
        const sealed = sealer.seal(text, context)
        expect(sealer.open(sealed, context)).toBe(text)
        expect(sealer.open(sealed, other)).toBeUndefined()
      }),
    )
  })

  it('reveals nothing of the text and never produces the same output twice', () => {
    const sealer = createNodeSealer([NEW])
    const sealed = [1, 2].map(() => sealer.seal('perdure_live_v1_secret', 'k'))

    expect(new Set(sealed).size).toBe(2)
    for (const text of sealed)
      expect(Buffer.from(text.slice(3), 'base64url').toString('latin1')).not.toContain('secret')
  })

  it('opens a text sealed with an earlier secret while that secret is listed', () => {
    const sealed = createNodeSealer([OLD]).seal('text', 'k')

    expect(createNodeSealer([NEW, OLD]).open(sealed, 'k')).toBe('text')
    expect(createNodeSealer([NEW]).open(sealed, 'k')).toBeUndefined()
    expect(createNodeSealer([NEW, OLD]).seal('text', 'k')).not.toBe(sealed)
  })

  it('rejects foreign input and a sealed text with any changed byte', () => {
    const sealer = createNodeSealer([NEW])
    const bytes = Buffer.from(sealer.seal('text', 'k').slice(3), 'base64url')

    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(sealer.open(`v1.${changed.toString('base64url')}`, 'k')).toBeUndefined()
    }
    for (const text of ['', 'v1.', 'v1.AAAA', `v2.${bytes.toString('base64url')}`, '{"token":"x"}']) {
      expect(sealer.open(text, 'k')).toBeUndefined()
    }
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { topLevelText } from './top-level-text.ts'

const find = (text: string) => topLevelText(new TextEncoder().encode(text), 'model')

describe('topLevelText', () => {
  it.each([
    ['{"model":"mail"}', 'mail'],
    ['{ "input" : [{"model":"inner"}], "model" : "mail" }', 'mail'],
    [String.raw`{"input":"\"model\":\"no\" \\","model":"mail"}`, 'mail'],
    ['{"input":"model","model":"mäil"}', 'mäil'],
  ])('finds the member in %s', (text, value) => {
    expect(find(text)).toBe(value)
  })

  it.each([
    ['{"input":"x"}'],
    ['{"model":7}'],
    [String.raw`{"model":"ma\u0069l"}`],
    ['[{"model":"mail"}]'.replace('[', '[[')],
    ['{"model":"mail'],
    ['"model"'],
    [''],
    [`{"model":"${'m'.repeat(600)}"}`],
  ])('finds nothing in %s', (text) => {
    expect(find(text)).toBeUndefined()
  })

  it('agrees with the parser about every object', () => {
    const model = fc.oneof(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), model, fc.boolean(), (others, value, isFirst) => {
        const { model: _, ...rest } = others
        const body = isFirst ? { model: value, ...rest } : { ...rest, model: value }
        const text = JSON.stringify(body)
        const isPlain = typeof value === 'string' && !JSON.stringify(value).includes('\\') && value.length < 100
        expect(find(text)).toBe(isPlain ? value : undefined)
      }),
    )
  })

  it('skips a long text at a small part of the cost of parsing it', () => {
    const body = new TextEncoder().encode(`{"input":"${'x'.repeat(8_000_000)}","model":"mail"}`)
    const started = performance.now()
    expect(topLevelText(body, 'model')).toBe('mail')
    expect(performance.now() - started).toBeLessThan(500)
  })
})

import { utf8Length } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ownFrames, splitStackText, stackText } from './stack-text.ts'

const PERDURE = `    at callStep (${import.meta.url.replace('src/runs/stack-text.test.ts', 'dist/index.js')}:9:1)`
const NODE = '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)'
const INSTALLED = '    at Client.send (file:///srv/app/node_modules/mail/index.js:3:7)'
const ANONYMOUS = '    at new Promise (<anonymous>)'
const OWN = ['    at charge (file:///srv/app/agents/pay.ts:12:40)', '    at async run (/srv/app/agents/refund.ts:4:3)']

const errorOf = (head: string, ...frames: readonly string[]) =>
  Object.assign(new Error('m'), { stack: [head, ...frames].join('\n') })

describe('stackText', () => {
  it('puts the frames of the user before those of packages, the platform and Perdure', () => {
    const error = errorOf('TypeError: m', INSTALLED, PERDURE, OWN[0] ?? '', NODE, ANONYMOUS, OWN[1] ?? '')

    expect(stackText([error])?.split('\n')).toEqual(['TypeError: m', ...OWN, ...[INSTALLED, PERDURE, NODE, ANONYMOUS]])
  })

  it('keeps a message of several lines above the frames', () => {
    expect(
      stackText([errorOf('Error: one\n  two', ...OWN)])
        ?.split('\n')
        .slice(0, 2),
    ).toEqual(['Error: one', '  two'])
  })

  it('contains the stacks of the causes, which can be split again', () => {
    const text =
      stackText([errorOf('PerdureError: outer', PERDURE), errorOf('TypeError: inner', ...OWN), 'a text']) ?? ''

    expect(splitStackText(text)).toEqual([
      `PerdureError: outer\n${PERDURE}`,
      `TypeError: inner\n${OWN.join('\n')}`,
      'string: a text',
    ])
    expect(ownFrames(text)).toEqual(OWN)
  })

  it('has no stack for values without one', () => {
    expect(stackText(['a text', undefined, { message: 'm' }])).toBeUndefined()
  })

  it('drops the frames of others first when the text is longer than 8 KiB', () => {
    const others = Array.from(
      { length: 200 },
      (_, n) => `    at f${n} (file:///srv/app/node_modules/p/index.js:${n}:1)`,
    )

    expect(stackText([errorOf('Error: m', ...others, ...OWN)])).toBe(['Error: m', ...OWN].join('\n'))
  })

  it('keeps the frames of every error of a chain when a message is huge', () => {
    const chain = [errorOf(`Error: ${'x'.repeat(100_000)}`, ...OWN), errorOf('TypeError: inner', ...OWN)]
    const text = stackText(chain) ?? ''

    expect(utf8Length(text)).toBeLessThanOrEqual(8_192)
    expect(text).toContain('TypeError: inner')
  })

  it('is at most 8 KiB for any stack', () => {
    const stack = fc.string({ unit: fc.constantFrom(' ', '\n', '    at f (a.js:1:2)\n', 'ü🚢'), maxLength: 3_000 })
    fc.assert(
      fc.property(fc.array(stack, { maxLength: 6 }), (stacks) => {
        const text = stackText(stacks.map((one) => errorOf('Error: m', one)))
        expect(utf8Length(text ?? '')).toBeLessThanOrEqual(8_192)
      }),
    )
  })
})

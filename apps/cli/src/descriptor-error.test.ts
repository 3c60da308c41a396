import { StartError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { withDescriptorHint } from './descriptor-error.ts'

const shortage = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
const invalid = (cause: Error) => new StartError('config-invalid', { message: 'no', hint: 'yes', cause })

describe('withDescriptorHint', () => {
  it.each([[shortage], [invalid(shortage)], [new Error('Cannot read package config: too many open files')]])(
    'replaces an error caused by a lack of descriptors: %o',
    (error) => {
      expect(withDescriptorHint(error)).toMatchObject({
        kind: 'descriptor-limit',
        hint: expect.stringContaining('ulimit -n'),
        cause: error,
      })
    },
  )

  it.each([[new Error('other')], [invalid(new Error('other'))], ['text']])('returns another error: %o', (error) => {
    expect(withDescriptorHint(error)).toBe(error)
  })

  it('returns an error that already names the limit', () => {
    const error = new StartError('descriptor-limit', { message: 'no', hint: 'yes', cause: shortage })

    expect(withDescriptorHint(error)).toBe(error)
  })
})

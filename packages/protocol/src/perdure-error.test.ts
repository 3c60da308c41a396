import { describe, expect, it } from 'vitest'
import { isPerdureError, PerdureError, StartError } from './perdure-error.ts'

const anotherCopy: typeof import('./perdure-error.ts') = await import(/* @vite-ignore */ `./perdure-error.ts?${'copy'}`)

const refusedStart = { message: 'locked', hint: 'wait' }

describe('instanceof', () => {
  it('matches errors created by another copy of the package', () => {
    const { PerdureError: OtherError, StartError: OtherStartError } = anotherCopy

    expect(OtherError).not.toBe(PerdureError)
    expect(new OtherError('agent-busy', 'busy')).toBeInstanceOf(PerdureError)
    expect(new OtherStartError('storage-locked', refusedStart)).toBeInstanceOf(StartError)
    expect(new OtherStartError('storage-locked', refusedStart)).toBeInstanceOf(PerdureError)
  })

  it('tells a StartError from other errors', () => {
    expect(new StartError('storage-locked', refusedStart)).toBeInstanceOf(PerdureError)
    expect(new PerdureError('storage-locked', 'locked')).not.toBeInstanceOf(StartError)
  })

  it('matches a derived class only for its own instances', () => {
    class ShopError extends PerdureError {
      constructor(message: string) {
        super('shop-closed', message)
        this.name = 'ShopError'
      }
    }

    expect(new ShopError('closed')).toBeInstanceOf(ShopError)
    expect(new ShopError('closed')).toBeInstanceOf(PerdureError)
    expect(new PerdureError('agent-busy', 'busy')).not.toBeInstanceOf(ShopError)
  })

  it('does not match a value that only has the name', () => {
    expect(Object.assign(new Error('?'), { name: 'PerdureError' })).not.toSatisfy(isPerdureError)
    expect({ name: 'PerdureError', code: 'agent-busy' }).not.toSatisfy(isPerdureError)
    expect(undefined).not.toSatisfy(isPerdureError)
  })
})

describe('a PerdureError', () => {
  it('has only the members that have a value', () => {
    const error = new PerdureError('agent-busy', 'busy', { status: 409, hint: undefined, cause: 'why' })

    expect(Object.keys(error).sort()).toEqual(['code', 'name', 'status'])
    expect(error.cause).toBe('why')
    expect(error.hint).toBeUndefined()
  })

  it('of a refused start has the kind as its code', () => {
    const { name, code, kind, hint } = new StartError('storage-locked', refusedStart)

    expect({ name, code, kind, hint }).toEqual({
      name: 'StartError',
      code: 'storage-locked',
      kind: 'storage-locked',
      hint: 'wait',
    })
  })
})

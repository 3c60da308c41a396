import { describe, expect, it } from 'vitest'
import { AppError, StartError } from './app-error.ts'

const anotherCopy: typeof import('./app-error.ts') = await import(/* @vite-ignore */ `./app-error.ts?${'copy'}`)

describe('instanceof', () => {
  it('matches an AppError and a StartError created by another copy of the package', () => {
    const { AppError: OtherAppError, StartError: OtherStartError } = anotherCopy
    const refused = new OtherStartError('storage-locked', { message: 'locked', hint: 'wait' })

    expect(OtherAppError).not.toBe(AppError)
    expect(new OtherAppError('agent-busy')).toBeInstanceOf(AppError)
    expect(refused).toBeInstanceOf(StartError)
    expect(refused).not.toBeInstanceOf(AppError)
  })

  it('does not match an error that only has the same name', () => {
    const stranger = Object.assign(new Error('?'), { name: 'AppError', id: 'agent-lazy' })

    expect(stranger).not.toBeInstanceOf(AppError)
    expect({ name: 'AppError', id: 'agent-busy' }).not.toBeInstanceOf(AppError)
    expect(undefined).not.toBeInstanceOf(AppError)
  })
})

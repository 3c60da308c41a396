import { StartError } from '@perdure/ports'
import { expect, it } from 'vitest'
import { fail, failFrom, findingText, ok, warn } from './finding.ts'

it('findingText marks the line and prints the fix below it', () => {
  expect(findingText(ok('node', 'fine'))).toBe('✓ node     fine\n')
  expect(findingText(warn('wal', 'large'))).toBe('! wal      large\n')
  expect(findingText(fail('port', 'taken', 'use another'))).toBe('✗ port     taken\n    fix: use another\n')
})

it('failFrom uses the hint of a typed error as the fix', () => {
  const typed = new StartError('pepper-weak', { message: 'short', hint: 'make a longer one' })

  expect(failFrom('secrets', typed, 'otherwise')).toEqual(fail('secrets', 'short', 'make a longer one'))
  expect(failFrom('secrets', new Error('boom'), 'otherwise')).toEqual(fail('secrets', 'boom', 'otherwise'))
})

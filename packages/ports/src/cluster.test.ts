import { expect, it } from 'vitest'
import { DUTIES, soleNode } from './cluster.ts'

it('gives every duty and no name to a process that has its storage for itself', () => {
  expect(DUTIES.map(soleNode.isMine)).toEqual(DUTIES.map(() => true))
  expect(soleNode.executor).toBeUndefined()
})

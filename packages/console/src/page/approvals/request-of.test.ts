import { expect, it } from 'vitest'
import { requestOf } from './request-of.ts'

const args = { to: 'mia', amount: 60 }

it.each([
  ['the usual payload of a tool call', { payload: { toolName: 'pay', args }, args }, { toolName: 'pay', args }],
  ['a payload that is the arguments', { payload: args, args }, args],
  ['a payload of its own with the arguments', { payload: { invoice: 7 }, args }, { payload: { invoice: 7 }, args }],
  ['the arguments without a payload', { args }, args],
  ['the payload without arguments', { payload: 'go' }, 'go'],
  ['nothing', {}, undefined],
])('shows %s', (_, approval, shown) => {
  expect(requestOf(approval)).toEqual(shown)
})

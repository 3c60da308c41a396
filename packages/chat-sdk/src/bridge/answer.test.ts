import fc from 'fast-check'
import { expect, it } from 'vitest'
import { messagesOf } from './answer.ts'

const withoutSpace = (text: string) => text.replaceAll(/\s/g, '')

it('cuts a long answer into messages that fit, and loses no character but white space', () => {
  const words = fc.array(fc.constantFrom('a', 'bcd ', '\n', '😀', 'x'.repeat(9), ' \n\n'), { maxLength: 60 })
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 40 }), (parts, maxLength) => {
      const text = parts.join('')
      const messages = messagesOf(text, maxLength)
      expect(withoutSpace(messages.join(''))).toBe(withoutSpace(text))
      expect(messages.every((message) => message !== '' && message.length <= maxLength)).toBe(true)
      expect(messages.every((message) => message.isWellFormed())).toBe(true)
    }),
  )
})

it('cuts at a line break where there is one in the second half', () => {
  expect(messagesOf('first line\nsecond line', 15)).toEqual(['first line', 'second line'])
  expect(messagesOf(' short ')).toEqual(['short'])
  expect(messagesOf('  ')).toEqual([])
})

import { textSinkContract } from '@perdure/testkit'
import { toTextBody } from './text-body.ts'

textSinkContract({
  name: 'the body of a Response',
  async open(stream) {
    const reader = toTextBody(stream).getReader()
    const decoder = new TextDecoder()
    return {
      async next() {
        const { done, value } = await reader.read()
        return done ? undefined : decoder.decode(value, { stream: true })
      },
      leave: () => void reader.cancel(),
    }
  },
})

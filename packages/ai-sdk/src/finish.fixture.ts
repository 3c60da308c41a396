import type { scriptedModel } from './testing.ts'

type Model = ReturnType<typeof scriptedModel>

/** The model with another end of its answers. */
export const withFinish = (model: Model, finish: object): Model => ({
  ...model,
  doGenerate: async (options) => ({ ...(await model.doGenerate(options)), ...finish }),
  async doStream(options) {
    const { stream } = await model.doStream(options)
    type Sent = typeof stream extends ReadableStream<infer Part> ? Part : never
    const change = new TransformStream<Sent, Sent>({
      transform: (part, controller) => controller.enqueue(part.type === 'finish' ? { ...part, ...finish } : part),
    })
    return { stream: stream.pipeThrough(change) }
  },
})

/** The model with streams that end without a finish part after so many parts, as when a connection is closed. */
export const withoutFinish = (model: Model, parts: number): Model => ({
  ...model,
  async doStream(options) {
    const { stream } = await model.doStream(options)
    const cut = async function* () {
      let sent = 0
      for await (const part of stream) if (sent++ < parts) yield part
    }
    return { stream: ReadableStream.from(cut()) }
  },
})

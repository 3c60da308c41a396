import type { CallOptions, ModelLike } from '../model/model.ts'
import type { Answer } from './scripted-answer.ts'

interface Answers<More> {
  /** `'real'` asks the real model. */
  readonly answerTo: (call: CallOptions) => Answer | 'real'
  readonly real: ModelLike | undefined
  readonly more: More
}

/** A model of the SDK that gives these answers. */
export function modelOf<More extends object>(
  { provider, modelId }: { readonly provider: string; readonly modelId: string },
  { answerTo, real, more }: Answers<More>,
) {
  const answered = async <T>(
    call: CallOptions,
    given: (answer: Answer) => T,
    ask: (model: ModelLike) => PromiseLike<T>,
  ) => {
    const answer = answerTo(call)
    if (answer !== 'real') return given(answer)
    if (real === undefined) throw new Error('there is no real model')
    return ask(real)
  }
  const own = {
    specificationVersion: 'v3' as const,
    provider,
    modelId,
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: (call: CallOptions): Promise<never> =>
      answered<unknown>(
        call,
        ({ content, finish }) => ({ content, ...finish, warnings: [] }),
        (model) => model.doGenerate(call),
      ) as Promise<never>,
    doStream: (call: CallOptions): Promise<never> =>
      answered<unknown>(call, streamOf, (model) => model.doStream(call)) as Promise<never>,
  }
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(more)) as typeof own & More
}

function streamOf({ parts, finish }: Answer): object {
  async function* streamed() {
    yield { type: 'stream-start', warnings: [] }
    yield* parts
    yield { type: 'finish', ...finish }
  }
  return { stream: ReadableStream.from(streamed()) }
}

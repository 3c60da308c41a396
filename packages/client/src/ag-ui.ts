import { HttpAgent, type HttpAgentConfig, runHttpRequest, transformHttpEventStream } from '@ag-ui/client'
import { type ResumeOptions, resumingFetch, type StreamEnd } from './resuming-fetch.ts'

/** The options of `HttpAgent`, and those of resuming. */
export interface PerdureHttpAgentConfig extends HttpAgentConfig, Pick<ResumeOptions, 'giveUpAfterMs' | 'silenceMs'> {}

/**
 * An AG-UI agent whose runs survive lost connections and restarts of the server. `connectAgent({ runId })` follows a run
 * that was started before, by its own id or by the id that a client gave it.
 */
export class PerdureHttpAgent extends HttpAgent {
  constructor({ giveUpAfterMs, silenceMs, ...config }: PerdureHttpAgentConfig) {
    super(config)
    this.fetch = resumingFetch(this.fetch, RUN_END, { giveUpAfterMs, silenceMs })
  }

  protected override connect({ runId }: Parameters<HttpAgent['run']>[0]): ReturnType<HttpAgent['run']> {
    const init = { headers: { ...this.headers, Accept: 'text/event-stream' }, signal: this.abortController.signal }
    return transformHttpEventStream(
      runHttpRequest(() => this.fetch(`${this.url}/${encodeURIComponent(runId)}`, init)),
      this.debugLogger,
    )
  }
}

const RUN_END: StreamEnd = {
  isLast: (data) => /^\{"type":"RUN_(?:FINISHED|ERROR)"/.test(data),
  lost: (message) => [JSON.stringify({ type: 'RUN_ERROR', message, code: 'stream-lost' })],
}

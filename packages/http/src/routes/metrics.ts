import type { metricOperations } from '@perdure/protocol'
import type { Handlers } from '../handlers.ts'
import type { UseCases } from '../http-app-deps.ts'
import { textAnswer } from '../response/text-answer.ts'

/** `/metrics`: the metrics for a scraper. */
export const metricRoutes = ({ readMetrics }: Pick<UseCases, 'readMetrics'>): Handlers<typeof metricOperations> => ({
  async getMetrics() {
    const { contentType, text } = await readMetrics()
    return textAnswer(text, 200, { 'Content-Type': contentType })
  },
})

import type { Call } from '../call.ts'
import { pairsText } from '../output/columns.ts'

export async function subjectsUsageCommand(call: Call, { subject }: { readonly subject: string }): Promise<void> {
  const usage = await call.client().subjects.usage(subject)
  call.out.document(usage, (paint) => {
    const { activeRuns, runsToday, costUsdToday, fileBytes, ...shown } = usage
    const beside = Object.entries({ activeRuns, runsToday, costUsdToday, fileBytes }).map(
      ([name, { used, limit }]) => [name, limit === null ? `${used}` : `${used} of ${limit}`] as const,
    )
    return pairsText([...Object.entries(shown), ...beside], paint)
  })
}

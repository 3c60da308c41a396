import type { METRICS, MetricName } from '@perdure/protocol'

type Table = typeof METRICS

type NameOf<Type extends Table[MetricName]['type']> = {
  [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never
}[MetricName]

export type MetricLabels<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string>>

/**
 * Port. Records the metrics of the `METRICS` table; never throws. Callers must keep the values of every label to a
 * bounded set: registered ids, route patterns, codes.
 */
export interface Meter {
  count<Name extends NameOf<'counter'>>(name: Name, labels: MetricLabels<Name>, by?: number): void
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: MetricLabels<Name>, value: number): void
  gauge<Name extends NameOf<'gauge'>>(name: Name, labels: MetricLabels<Name>, value: number): void
}

/** The document returned to a scraper. */
export interface Exposition {
  readonly contentType: string
  readonly text: string
}

/** A value of a metric. A histogram has one value per bucket, with its upper bound in the label `le`, a sum and a count. */
export interface MetricSeries {
  /** With the suffix of a histogram, such as `_bucket`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A meter whose values can be read. */
export interface ReadableMeter extends Meter {
  series(): Promise<readonly MetricSeries[]>
  /** The series in the text exposition format. */
  expose(): Promise<Exposition>
}

/** A meter that records nothing. */
export const noMeter: Meter = {
  count: () => undefined,
  observe: () => undefined,
  gauge: () => undefined,
}

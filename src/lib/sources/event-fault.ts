/** What is wrong with one line of events. Whoever reads the lines adds source and line number. */
export class EventFault extends Error {
  /** Empty when the line as a whole is wrong. */
  readonly field: string;

  constructor(field: string, problem: string) {
    super(problem);
    this.field = field;
  }
}

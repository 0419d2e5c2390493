-- Takings of a day by hour, for the till's small database
CREATE TABLE sale (id INTEGER PRIMARY KEY, at TEXT NOT NULL, article TEXT NOT NULL, pence INTEGER NOT NULL);
CREATE VIEW takings_by_hour AS
  SELECT substr(at, 1, 13) AS hour, count(*) AS sales, sum(pence) / 100.0 AS pounds
  FROM sale GROUP BY hour ORDER BY hour;
